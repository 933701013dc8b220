"""Words around the names of layers: which leave what these compute as it is, and which may change it."""

from __future__ import annotations

import re

from derive.question.prose import one_of

# Words that change nothing of what the parts compute: those that join them, and those that ask.
NEUTRAL = re.compile(
    r"an?|the|its|it|this|these|that|then|and|with|by|to|into|in|is|are|be|as|we|you|us|i|which|whose|where|here|also"
    r"|for|on|have|has|there|given|let|consider|suppose|assume|finally|next|both|each|every|all|any|following"
    r"|followed|connected|joined|stacked|named|order|chain\w*|one after the other"
    r"|layers?|units?|activations?|functions?|non-?linearit(?:y|ies)|loss|error|cost|objective|criterion|output|input"
    r"|inputs|outputs|pre-?activations?|targets?|labels?|desired|one-hot|element-?wise|entry-?wise|point-?wise|value"
    r"|networks?|nets?|neural|models?|modules?|system|compos\w+|consist\w*|contains?|containing|made|up|feed-?forward"
    r"|simple|small|goes|passes|passed|through|fed|uses?|using|trainable|together|sequence|sequential\w*"
    r"|derive|derivation|compute|calculate|find|determine|give|write|state|express|formulate|obtain|show|what|how"
    r"|messages?|forward|backward|parameters?|gradients?|derivatives?|jacobians?|partial|back-?propagat\w*|pass"
    r"|compris\w*|series|do|does|trained|training|stochastic|descent|sgd|minimi[sz]\w*|predictions?"
    r"|draw|computational|graph|explain|why|needed|rules?|formulas?|equations?|respect|wrt|w|r|t|down|out|work|please"
    r"|stages?|parts?|task|problem|question|join\w*|form(?:s|ed)?|creat\w*|built|builds?|stack\w*|regression|regressors?"
    r"|classifiers?|classification|define|describe|called|one|single|architecture|pipeline|regression|arranged"
    # Czech
    r"|s|se|z|ze|a|na|v|ve|do|k|je|jsou|po|pak|poté|potom|dále|pro|podle|vzhledem|všech\w*|mějme|uvažujte|uvažujme"
    r"|nechť|neuronov\w*|síť|sít\w*|modul\w*|skládá|sklád\w*|složen\w*|tvoř\w*|obsahuj\w*|následova\w*|následuje|za"
    r"|dán\w*|definuj\w*|nakresl\w*|výpočetn\w*|graf"
    r"|vrst\w*|funkc\w*|aktivač\w*|aktivac\w*|ztrát\w*|chyb\w*|cíl\w*|požadovan\w*|hodnot\w*|vstup\w*|výstup\w*"
    r"|kter\w*|jej\w*|jednotk\w*|odvoď\w*|odvod\w*|spočt\w*|vypočt\w*|určet\w*|napi\w*|zapi\w*|sestav\w*|uveď\w*"
    r"|zpráv\w*|dopředn\w*|zpětn\w*|parametr\w*|gradient\w*|derivac\w*|výsledn\w*|jednoduch\w*"
)
_ASKED = r"(?:weights|parameters?|inputs?|bias(?:es)?|slopes?|loss)"
PHRASES = one_of(
    rf"\b(?:to|for|of) (?:the |its |all )*{_ASKED}(?:(?:,| and|, and) (?:the )?{_ASKED})*\b(?: of\b)?",
    r"\b(?:input|output|target|one-hot) vectors?\b", r"\bscalar (?:loss|outputs?|targets?)\b",
    r"[(\[]?\d+\s*(?:p|b|pts|points?|bod\w*)\b[.)\]]?",
    r"\b(?:messages?|gradients?|derivatives?|jacobians?|outputs?|inputs?|consist\w*|compos\w+|made up|chain|sequence"
    r"|network|layers|built|formed|weights|parameters?|rules?|equations?|pass|module|model|order) of\b",
    r"\b(?:applied to|of) (?:its|the|this) outputs?\b",
    r"\b(?:without|with no|and no) (?:an? |any )?(?:activation|non-?linearity)(?: function)?",
    r"\b(?:with |of |and |has |having |s |se )?(?:∎|\b[kmn]\b|\d+) (?:output |input |výstupní\w* |vstupní\w* )?"
    r"(?:units|neurons|outputs|inputs|jednot\w*|neuron\w*|výstup\w*|vstup\w*)",
    r"\b(?:one|a single|single|1|jedn\w+) (?:output )?(?:unit|neuron|output|jednotk\w*|neuron\w*|výstup\w*)\b",
    r"\bcompared (?:with|to) (?:the |a |an |its )?targets?\b",
    r"(?:^|[,:;¶])(?: and)?\s*\d+[.)]", r"\bin the order (?:named|given)", r"\bone after (?:the other|another)",
)  # fmt: skip
# Words of another sentence that would change what the parts compute.
CHANGING = one_of(
    r"\baverag\w*", r"\bmean\b", r"\bregulari\w*", r"\bpenal\w*", r"\bdecay\w*", r"\bsamples?\b", r"\bbatch\w*",
    r"\bhalf\b", r"\bscaled\b", r"\bshared\b", r"\bmomentum\b", r"\bclip\w*", r"\bdoubl\w*",
    r"\badd(?:s|ed|ing|ition\w*)\b", r"\bplus\b", r"\bsubtract\w*", r"\bmultipl\w*", r"\bdivided\b", r"\bweighted\b",
    r"\btied\b", r"\bskip\w*", r"\bnormali\w*", r"\btemperature\b", r"\bnoise\b", r"\bpřičt\w*", r"\bpřid\w*",
    r"\bprůměr\w*", r"\bregulariz\w*", r"\bvzork\w*", r"\bdávk\w*", r"\bpolovin\w*",
)  # fmt: skip
