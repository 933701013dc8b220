"""The commands of ``derive``, a file each."""
