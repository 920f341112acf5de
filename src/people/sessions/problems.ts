import { problems } from '#base/problems.ts';

export const problem = problems('sign_in', {
  refused: { status: 401, message: 'Wrong e-mail address, password or code' },
  limited: { status: 429, message: 'Too many failed sign-ins; try again {when}' },
  account_inactive: { status: 403, message: 'This account is inactive; an administrator can activate it' },
  organisation_required: { status: 409, message: 'This address has an account in several organisations: send org_id' },
  second_factor_required: { status: 401, message: 'This account has a second factor: send its code as otp' },
  reauthentication_code_required: {
    status: 403,
    message: 'Send the code of your authenticator app as otp to confirm this change',
  },
  reauthentication_failed: { status: 403, message: 'Wrong password or code' },
  code_wrong: { status: 400, message: 'otp: is not the code of the authenticator app' },
  totp_missing: { status: 404, message: 'This user has no authenticator app' },
  password_expired: {
    status: 403,
    message: 'The password has expired: set a new one with reset_token and POST /api/session/reset',
  },
  own_password: { status: 409, message: 'Your own password is set with POST /api/users/…/actions/reset' },
  token_invalid: { status: 400, message: 'The link is invalid, expired or was used already: request a new one' },
  own_factor: { status: 409, message: 'Your own second factor is removed with POST /api/session/totp/disable' },
  second_factor_missing: { status: 404, message: 'This user has neither an authenticator app nor a passkey' },
  passkeys_unavailable: {
    status: 409,
    message: 'Passkeys need a dashboard.url with https and a host name, or localhost',
  },
  challenge_invalid: { status: 400, message: 'The challenge is invalid, expired or was used already: start again' },
  passkey_refused: { status: 401, message: 'The passkey is unknown, or its response is wrong' },
  passkey_exists: { status: 409, message: 'This passkey is registered already' },
  too_many_passkeys: { status: 409, message: 'A user has at most {maxPasskeys} passkeys: remove one first' },
  passkey_not_found: { status: 404, message: 'Passkey not found' },
  session_missing: { status: 400, message: 'This request has no session: it was made with an access key' },
  session_not_found: { status: 404, message: 'Session not found' },
});
