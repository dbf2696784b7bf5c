"""Write the log of a run for TensorBoard, which must be installed."""

from typing import Any

from repro.core.config import RunConfig
from repro.errors import MachineError
from repro.runs.run import Run

FOLDER = "tensorboard"  # in the run's folder


class TensorBoardLog:
    """Write every number of a line of metrics; `tensorboard --logdir runs` shows them.

    Args:
        config: of the run, whose folder gets the events.

    Raises:
        MachineError: TensorBoard is not installed.
    """

    def __init__(self, config: RunConfig) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            fix = "pip install tensorboard, or leave --log out: metrics.jsonl has the same numbers"
            raise MachineError("tensorboard", "is not installed", fix) from error
        self._writer = SummaryWriter(str(Run.create(config).path / FOLDER))

    def __call__(self, line: dict[str, Any]) -> None:
        """Take a line of metrics."""
        for name, value in line.items():
            if name != "update":
                self._writer.add_scalar(name, value, line["update"])
        self._writer.flush()
