"""What documents are made of: all that bootlab writes as JSON, for its own record or for the user, and reads back.

What a user writes is another thing: the parts of a system file, which also refuse a value of another type, are
`system.part.Part`.
"""

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """A document, or a piece of one: frozen; unknown keys are refused; a key may have another name than its field."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)
