/** A schema that means nothing, or too much. The message says why. */
export class Unreadable extends Error {}
