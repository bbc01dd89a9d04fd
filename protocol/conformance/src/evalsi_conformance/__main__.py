"""`python -m evalsi_conformance`: as the command."""

from evalsi_conformance.command import main

raise SystemExit(main())
