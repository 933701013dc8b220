"""Whether an equation holds: proved, tested, refuted, at kinks, at the smallest input, with which known mistake."""
