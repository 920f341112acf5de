/** Vault purpose of sealed private keys; the same purpose opens them for TLS. */
export const privateKeyPurpose = 'private key';
