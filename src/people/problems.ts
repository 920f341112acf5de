import { problems } from '#base/problems.ts';
import { limitReached } from '#operations/problems.ts';

const ownProblems = problems('people', {
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
  organisation_unknown: { status: 400, message: 'org_id: there is no organisation {id}' },
  audit_export_too_large: {
    status: 400,
    message: 'More than {max} audit records match: restrict them with from_date and to_date',
  },
  audit_log_not_found: { status: 404, message: 'Audit log not found' },
  user_not_found: { status: 404, message: 'User not found' },
  email_exists: { status: 409, message: 'User email already exists for this Org' },
  bad_password: { status: 400, message: '{faults}' },
  own_key_only: { status: 403, message: 'access denied: users can only reset their own access key' },
  last_administrator: { status: 409, message: 'This is the last active administrator of the organisation' },
  only_admin_grants: { status: 403, message: 'access denied: only an administrator may grant {permission}' },
  grant_not_held: {
    status: 403,
    message: 'access denied: you cannot grant {permission}: {level}, which you do not have',
  },
  permission_unknown: { status: 400, message: 'user_permissions.{name}: no such permission{hint}' },
  permission_level_invalid: { status: 400, message: 'user_permissions.{name}: must be admin or deny' },
  user_outranks: { status: 403, message: 'access denied: this user has permissions that you do not have' },
  group_outranks: {
    status: 403,
    message: 'access denied: users of this group have permissions that you do not have',
  },
  email_owner_only: {
    status: 403,
    message: 'access denied: only the user itself or an administrator may change an e-mail address',
  },
  group_not_found: { status: 404, message: 'User group not found' },
  group_unknown: { status: 400, message: 'group_id: there is no user group {id}' },
  group_in_use: { status: 409, message: 'The user group still has users ({count}): move them first' },
  group_permission_invalid: { status: 400, message: 'user_permissions.{name}: a user group cannot grant it' },
  group_owns_hidden_apis: {
    status: 403,
    message: 'access denied: the user group owns APIs that you cannot see',
  },
  user_owns_hidden_apis: { status: 403, message: 'access denied: this user owns APIs that you cannot see' },
  custom_permission_invalid: { status: 400, message: '{path}: {reason}' },
  rules_invalid: { status: 400, message: 'open_policy.rules: {reason}' },
  rules_without_decision: { status: 400, message: 'open_policy.rules: must define deny or allow' },
  rules_denied: { status: 403, message: 'access denied: {reasons}' },
  rules_unavailable: { status: 503, message: 'The rules of the organisation cannot be evaluated: {reason}' },
  sso_defaults_unusable: { status: 500, message: 'sso.permission_defaults: {faults}' },
  domain_taken: { status: 409, message: 'domain: another organisation has {domain}' },
});

export const problem = { ...ownProblems, limit_reached: limitReached };
