import (
from x import (
import a, \