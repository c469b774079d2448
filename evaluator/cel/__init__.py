"""CEL, the Common Expression Language: texts into checks (`from_cel`) and checks into texts (`to_cel`).

Two dialects are read and written. The default is that of the autocheck language, whose evaluator of CEL texts
is reproduced in verdict and gap. Standard CEL (`standard=True`) has what that one lacks, signed numbers,
exponents, null and escapes in strings, and is what other CEL engines read.
"""

from evaluator.cel.lowering import from_cel
from evaluator.cel.printing import to_cel

__all__ = ["from_cel", "to_cel"]
