import { problems } from '#base/problems.ts';

export const problem = problems('keys', {
  not_found: { status: 404, message: 'Could not retrieve key detail' },
  exists: { status: 409, message: 'A key with this id already exists' },
  hash_ambiguous: { status: 409, message: 'Several keys have this hash: name the key by its id' },
  organisation_key: { status: 403, message: 'access denied: the limits of an organisation are set by the operator' },
  organisation_changed: { status: 400, message: 'org_id: is {id} and cannot change' },
  certificate_unknown: { status: 400, message: 'certificate: Key must be used with an existent certificate' },
});
