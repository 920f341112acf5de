/** Path of every profile; its listener decides what is before it. */
export const loginPath = '/tib/auth/:profileId/:provider';

export const maxPasswordFormBytes = 8192;
export const maxSamlResponseBytes = 262_144;
/** Base64 is a third longer, and may have line breaks. */
export const maxSamlEncodedCharacters = 1.4 * maxSamlResponseBytes;
/** Form encoding can triple a character. */
export const maxSamlFormBytes = 4 * maxSamlResponseBytes;
/** Of a query or form of single logout, with its encoding. */
export const maxLogoutBytes = 131_072;
