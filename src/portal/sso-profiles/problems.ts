import { problems } from '#base/problems.ts';

export const problem = problems('sso', {
  id_taken: { status: 409, message: 'ID: another sign-on profile has this ID' },
  nonce_invalid: { status: 403, message: 'This sign-on has expired or was used already: sign on again' },
  embedded: { status: 403, message: 'A sign-on is completed in the window of a browser, not inside of a page' },
  administrator_account: { status: 403, message: 'The account with this e-mail address is not one of a developer' },
  developer_account: { status: 403, message: 'The account with this e-mail address is not one of an administrator' },
  administrator_unknown: { status: 403, message: 'No administrator of this portal has this e-mail address' },
  not_registered: { status: 403, message: 'Only registered users may sign on, and no account has this address' },
  email_unverified: { status: 403, message: 'The identity provider has not verified your e-mail address' },
  account_linked: {
    status: 403,
    message: 'The account with this e-mail address belongs to another user of the identity provider',
  },
  team_unknown: { status: 403, message: 'Your groups are assigned to a team that does not exist' },
  teams_divided: { status: 403, message: 'Your groups are assigned to teams of several organisations' },
});
