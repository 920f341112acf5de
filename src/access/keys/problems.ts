import { problems } from '#base/problems.ts';

export const problem = problems('keys', {
  not_found: { status: 404, message: 'Could not retrieve key detail' },
  exists: { status: 409, message: 'A key with this id already exists' },
  hash_ambiguous: { status: 409, message: 'Several keys have this hash: use the key id' },
  no_usernames: { status: 400, message: 'username: references to keys by user name are disabled' },
  not_rotatable: { status: 400, message: 'The key cannot be rotated: {reason}' },
  organisation_key: { status: 403, message: 'access denied: the limits of an organisation are set by the operator' },
  organisation_changed: { status: 400, message: 'org_id: is {id} and cannot change' },
  unknown: { status: 404, message: 'Key not found' },
  unknown_to_change: { status: 404, message: 'Key is not found' },
  unknown_to_remove: { status: 404, message: 'There is no such key found' },
  organisation_key_unknown: { status: 404, message: 'Org not found' },
  too_many_bound: { status: 409, message: 'More than {maxKeys} keys mention the certificate: delete keys first' },
  no_rights: {
    status: 400,
    message: 'Failed to create key, keys must have at least one Access Rights record set.',
  },
  certificate_taken: {
    status: 409,
    message: 'Failed to create key - Key with given certificate already found:{id}',
  },
  no_instruction: {
    status: 400,
    message: "Couldn't decode instruction: policy or apply_policies must name at least one policy",
  },
  certificate_unknown: { status: 400, message: 'certificate: Key must be used with an existent certificate' },
});
