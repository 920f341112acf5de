import { problems } from '#base/problems.ts';

export const problem = problems('certificates', {
  already_exists: { status: 409, message: 'Certificate with {id} id already exists' },
  not_found: { status: 404, message: 'Certificate with given SHA256 fingerprint not found' },
  private_key_removed: {
    status: 409,
    message: 'The private key was removed with the certificate and is in no revision: upload both again',
  },
  empty: { status: 400, message: 'Malformed request body: send the certificate as PEM' },
  expired: { status: 400, message: 'certificate is expired' },
  undecodable: { status: 400, message: 'Failed to decode certificate. It should be PEM encoded.' },
  several_private_keys: { status: 400, message: 'Found multiple private keys' },
  several_public_keys: { status: 400, message: 'Found multiple public keys' },
  public_key_combined: { status: 400, message: "Public keys can't be combined with certificates" },
  private_key_alone: { status: 400, message: 'A private key needs its certificate in the same upload' },
  private_key_unreadable: { status: 400, message: 'Failed to read the private key' },
  private_key_encrypted: {
    status: 400,
    message: 'The private key is encrypted with a passphrase: upload it decrypted, it is stored encrypted here',
  },
  private_key_foreign: { status: 400, message: 'The private key does not belong to the certificate' },
  leaf_not_first: {
    status: 400,
    message: 'The private key belongs to certificate {place} of the chain: that certificate must come first',
  },
  unknown_block: { status: 400, message: 'PEM blocks of type "{label}" are not supported' },
  too_large: { status: 413, message: 'A certificate upload may have at most {maxBytes} bytes' },
  too_many: { status: 400, message: 'A certificate upload may have at most {maxCertificates} certificates' },
});

/** Problems of an upload. */
export const uploadProblems = [
  problem.already_exists,
  problem.undecodable,
  problem.expired,
  problem.too_large,
  problem.too_many,
  problem.several_private_keys,
  problem.several_public_keys,
  problem.public_key_combined,
  problem.private_key_alone,
  problem.private_key_unreadable,
  problem.private_key_encrypted,
  problem.private_key_foreign,
  problem.leaf_not_first,
  problem.unknown_block,
];
