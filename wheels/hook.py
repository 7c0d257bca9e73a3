"""Puts kernels that were compiled for this platform into the wheel, if there are any."""

import os
import sysconfig

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Kernels(BuildHookInterface):
    """`TVCS_KERNELS` names what `wheels/kernels.py` made; without it nothing is added."""

    def initialize(self, version, build_data):
        """Add the folder, and say which platform the wheel is for."""
        folder = os.environ.get("TVCS_KERNELS")
        if not folder or version == "editable":
            return
        build_data["force_include"][folder] = "tvcs_core/jit/built"
        build_data["pure_python"] = False
        # Another Python than the one that compiled them takes the wheel too, and compiles its own.
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
