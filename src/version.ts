/** The release this is; the same as in package.json, which a test holds to it. */
export const version = '0.1.0';
