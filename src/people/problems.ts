import { problems } from '#base/problems.ts';

export const problem = problems('people', {
  organisation_not_found: { status: 404, message: 'Organisation not found' },
  organisation_exists: { status: 409, message: 'An organisation with this id already exists' },
  organisation_in_use: { status: 409, message: 'The organisation still has {what}: delete them first' },
  organisation_first: {
    status: 409,
    message: 'This is the default organisation, created at first start: it cannot be deleted',
  },
  organisation_unrestricted: {
    status: 409,
    message: 'This is the operator’s own organisation, created at first start: its grants cannot be restricted',
  },
  limit_reached: { status: 403, message: 'limit reached: {name} {max}' },
  organisation_unknown: { status: 400, message: 'org_id: there is no organisation {id}' },
  audit_log_not_found: { status: 404, message: 'Audit log not found' },
  user_not_found: { status: 404, message: 'User not found' },
  email_exists: { status: 409, message: 'User email already exists for this Org' },
  bad_password: { status: 400, message: '{faults}' },
  wrong_password: { status: 403, message: 'current_password: is wrong' },
  own_key_only: { status: 403, message: 'access denied: users can only reset their own access key' },
  last_administrator: { status: 409, message: 'This is the last active administrator of the organisation' },
  only_admin_grants: { status: 403, message: 'access denied: only an administrator may grant {permission}' },
  grant_not_held: {
    status: 403,
    message: 'access denied: you cannot grant {permission}: {level}, which you do not have',
  },
});
