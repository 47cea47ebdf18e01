"""The command `doctor`."""

from hexathlon_cli.options import AsJson

__all__ = ["doctor"]


def doctor(as_json: AsJson = False) -> int:
    """Show what this machine can run, and what is missing.

    Each missing component is listed with the command that installs it.
    """
    import json

    from hexathlon.baselines.harness.doctor import probes
    from hexathlon.baselines.harness.tables import ReportTable
    from hexathlon_cli.output import print_table, print_text

    results = list(probes())
    if as_json:
        print_text(json.dumps([probe._asdict() for probe in results], indent=2))
    else:
        rows = tuple((probe.name, probe.state, probe.detail, probe.remedy) for probe in results)
        print_table(
            ReportTable("This machine", ("component", "available", "detail", "remedy"), rows)
        )
    return 0
