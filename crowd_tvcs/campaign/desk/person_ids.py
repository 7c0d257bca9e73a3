"""Ids of people who sign up, which strangers write: their form, their signature, their code."""

from __future__ import annotations

import hmac
import re
from base64 import b32encode

from crowd_tvcs.campaign.desk.actions import OPERATOR

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,99}")
"""An id in an address, which strangers write: no more than what platforms use."""
KEY_BYTES, CODE_BYTES = 16, 10
"""Of a signature of an id, and of a completion code."""


def check_id(text: str) -> str:
    """Return an id of an address."""
    if not ID.fullmatch(text):
        raise ValueError(
            "an id must be 1 to 100 letters, digits or _ . @ + -, and begin with a letter or digit"
        )
    if text.lower() == OPERATOR:  # whose changes the audit has under this name
        raise ValueError(f"an id must not be {OPERATOR}")
    return text


def sign_id(secret: str, name: str) -> str:
    """Return the signature of an id, which only the operator can make."""
    made = hmac.digest(secret.encode(), f"seat {name}".encode(), "sha256")
    return made[:KEY_BYTES].hex()


def is_signed(secret: str, name: str, key: str) -> bool:
    """Return whether this is the signature of an id."""
    return hmac.compare_digest(sign_id(secret, name).encode(), key.encode())


def completion_code(secret: str, name: str) -> str:
    """Return the code of a person who is done: nobody else has it, and it reveals nothing."""
    made = hmac.digest(secret.encode(), f"completion {name}".encode(), "sha256")
    return b32encode(made[:CODE_BYTES]).decode()
