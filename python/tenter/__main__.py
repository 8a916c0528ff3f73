"""`python -m tenter` is the command `tenter`."""

from tenter._cli import main

main()
