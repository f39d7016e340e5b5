# SPDX-License-Identifier: BSD-3-Clause
from nuice_fixtures import nuice_command, nuice_main, turn

__all__ = ["nuice_command", "nuice_main", "turn"]
