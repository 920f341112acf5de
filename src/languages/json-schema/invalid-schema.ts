/** A schema that means nothing, or too much. The message says why. */
export class InvalidSchema extends Error {}
