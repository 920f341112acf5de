/** What private keys are sealed for: whoever presents a certificate opens them with it. */
export const privateKeyPurpose = 'private key';
