/** A field has no value for a reason that its client may know: no address, no text of the gateway's inside. */
export class SourceError extends Error {}
