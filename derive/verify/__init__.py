"""The report on a sheet: every printed equation checked as printed, and the routes compared."""
