/** The schema is invalid or exceeds a bound. */
export class InvalidSchema extends Error {}
