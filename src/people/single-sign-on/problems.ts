import { Problem, problems } from '#base/problems.ts';

export const problem = problems('sign_on', {
  disabled: { status: 403, message: 'Single sign-on is off for this organisation: the operator sets sso_enabled' },
  organisation_foreign: { status: 403, message: 'OrgID: must be your own organisation' },
  organisation_unknown: { status: 400, message: 'OrgID: there is no organisation {id}' },
  account_foreign: { status: 403, message: 'access denied: only an administrator may sign another user on' },
  user_not_allowed: { status: 403, message: 'UserNotAllowed: a nonce is for a user who may sign on' },
  account_required: { status: 403, message: 'access denied: you signed on without an account' },
  nonce_invalid: { status: 403, message: 'The nonce is invalid, expired or was used already: sign on again' },
  navigation_required: { status: 403, message: 'A nonce is redeemed in the window of a browser, not inside of a page' },
  not_registered: { status: 403, message: 'Only registered users may sign on, and no account has this e-mail address' },
  account_inactive: { status: 403, message: 'This account is inactive; an administrator can activate it' },
  email_unverified: {
    status: 403,
    message: 'An account has this e-mail address, and the identity provider has not verified it',
  },
  account_linked: {
    status: 403,
    message:
      'The account with this e-mail address belongs to another user of the identity provider: an administrator can remove its links',
  },
  account_of_other_profile: {
    status: 403,
    message: 'An account has this e-mail address, and this identity profile may not sign users in to their accounts',
  },
  profile_changed: { status: 403, message: 'The identity profile was changed during this sign-on: sign on again' },
  profile_not_found: { status: 404, message: 'Identity profile not found' },
  profile_of_administrator: {
    status: 403,
    message:
      'access denied: an administrator wrote this profile, which may sign users in to their accounts: only an administrator to whom nothing is denied changes it',
  },
  group_unknown: { status: 400, message: '{member}: there is no user group {id}' },
  profile_unknown: { status: 404, message: 'There is no such login URL; an administrator can look it up' },
  flow_missing: {
    status: 403,
    message: 'This browser has begun no sign-on, or it took too long or was completed already: sign on again',
  },
  response_invalid: {
    status: 403,
    message: 'The response of the identity provider is refused; quote {reference} when you report it',
  },
  provider_unavailable: {
    status: 502,
    message: 'The identity provider is unavailable; quote {reference} when you report it',
  },
  too_many_sign_ons: {
    status: 503,
    message: 'Too many sign-ons of this organisation wait for its identity provider: try again later',
  },
  credentials_missing: { status: 400, message: 'username and password are required, once each' },
  credentials_refused: { status: 401, message: 'Wrong user name or password' },
  tester_refused: {
    status: 403,
    message: 'The link of this test is invalid or has expired: start the test again',
  },
  origin_foreign: { status: 403, message: 'The request comes from another site' },
  response_missing: { status: 400, message: 'SAMLResponse is required, once and within its size limit' },
  logout_message_missing: {
    status: 400,
    message: 'SAMLRequest or SAMLResponse is required, once and within its size limit',
  },
  logout_unavailable: { status: 404, message: 'This identity profile has no single logout: it needs SPPrivateKey' },
  logout_unknown: { status: 403, message: 'This sign-out has expired or was completed already' },
  logout_incomplete: {
    status: 502,
    message: 'You are signed out here, and the identity provider reports that it did not sign you out',
  },
  subject_missing: { status: 403, message: 'The identity provider sent no user id: {claim} is missing' },
  email_missing: { status: 403, message: 'The identity provider sent no usable e-mail address' },
  domain_refused: { status: 403, message: 'E-mail addresses of this domain may not sign on' },
  group_refused: { status: 403, message: 'You are in no group that may sign on' },
});

/** Refused response of an identity provider. The reason is logged; a response with it would help a forger. */
export class SignOnRefusal extends Error {}

/** Unusable identity provider: unreachable, or its documents are invalid. */
export class ProviderFailure extends Error {}

export const isProviderOutage = (error: unknown): boolean =>
  error instanceof ProviderFailure || (error instanceof Problem && error.code.startsWith('outbound.'));
