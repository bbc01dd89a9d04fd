"""`python -m evalsi_conformance`: run the command."""

from evalsi_conformance.command import main

raise SystemExit(main())
