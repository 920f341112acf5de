import { escapeMarkup } from '#base/escape-markup.ts';
import { describePasswordPolicy } from '#base/passwords.ts';
import { Problem } from '#base/problems.ts';
import type { HtmlPage, PageContent } from '#operations/pages.ts';
import { problem as peopleProblem } from '../problems.ts';
import { readPasswordPolicy } from '../users/password-policy.ts';
import { type FoundReset, findReset, type PasswordResetServices, setForgottenPassword } from './password-reset.ts';
import { problem } from './problems.ts';
import { resetPath } from './reset-link.ts';
import { toAuditActor } from './sign-in.ts';

/** Page behind the links of password resets. Opening it uses no token: mail scanners follow links. */
export const resetPage: HtmlPage<PasswordResetServices> = {
  name: 'resetForgottenPassword',
  path: resetPath,

  async show(fields, services) {
    const reset = await findReset(services, fields('token'));
    return reset ? renderForm(services, reset, fields('token')) : renderInvalidLink();
  },

  async submit(fields, services, identify) {
    const reset = await findReset(services, fields('token'));
    if (!reset) return renderInvalidLink();
    identify(toAuditActor(reset.user));
    const password = fields('new_password');
    const renderAgain = (errors: readonly string[]) => renderForm(services, reset, fields('token'), errors);
    if (password !== fields('repeated_password')) return renderAgain(['The two passwords differ']);
    try {
      await setForgottenPassword(services, reset, password);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === problem.token_invalid.code) return renderInvalidLink();
      if (error.code !== peopleProblem.bad_password.code) throw error;
      return renderAgain(String(error.detail.faults).split('; '));
    }
    return renderSuccess(reset);
  },
};

const renderList = (items: readonly string[]) => `<ul>${items.map(it => `<li>${escapeMarkup(it)}</li>`).join('')}</ul>`;

/** Password managers store the new password with the address. */
function renderForm(
  { settings }: PasswordResetServices,
  { user }: FoundReset,
  token: string,
  errors: readonly string[] = [],
): PageContent {
  const history = settings['users.password_history'];
  const rules = [
    ...describePasswordPolicy(readPasswordPolicy(settings)),
    ...(history > 0 ? [`Password may not be one of the last ${history}`] : []),
  ];
  const faults = errors.map(it => it.replace(/^password: /, ''));
  const password = (name: string, label: string, more = '') =>
    `<label for="${name}">${label}</label>` +
    `<input id="${name}" name="${name}" type="password" autocomplete="new-password" required${more}>`;
  return {
    status: errors.length > 0 ? 400 : 200,
    title: user.password === '' ? 'Choose a password' : 'Set a new password',
    main:
      (faults.length > 0 ? `<div class="errors" role="alert">${renderList(faults)}</div>` : '') +
      // Relative, and without the query, which has the token.
      `<form method="post" action="${resetPath.slice(resetPath.lastIndexOf('/') + 1)}">` +
      `<input type="hidden" name="token" value="${escapeMarkup(token)}">` +
      '<label for="username">E-mail address</label>' +
      `<input id="username" type="email" autocomplete="username" readonly value="${escapeMarkup(user.email_address)}">` +
      password('new_password', 'New password', ' autofocus aria-describedby="rules"') +
      `<div id="rules">${renderList(rules)}</div>` +
      password('repeated_password', 'New password again') +
      '<button>Set password</button></form>',
  };
}

const renderInvalidLink = (): PageContent => ({
  status: problem.token_invalid.status,
  title: 'This link no longer works',
  main:
    '<p>It is incomplete, has expired, or was used already. The password was not changed.</p>' +
    '<p><a href="forgotten">Request a new link</a>, or ask an administrator for one.</p>',
});

const renderSuccess = ({ user }: FoundReset): PageContent => ({
  status: 200,
  title: user.password === '' ? 'The password is set' : 'The new password is set',
  main:
    `<p><a href="../login">Sign in</a> as ${escapeMarkup(user.email_address)} with it.</p>` +
    (user.password === '' ? '' : '<p>All sessions of this account have ended.</p>'),
});
