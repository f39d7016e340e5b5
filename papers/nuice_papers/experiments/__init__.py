# SPDX-License-Identifier: BSD-3-Clause
"""What bench runs for the papers: fits of machines, a simulated CM-5, level rules."""
