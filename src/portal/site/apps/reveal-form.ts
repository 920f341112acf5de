import { maxPasswordBytes } from '#base/passwords.ts';
import { isReauthenticated } from '../../second-factor/second-factor.ts';
import { toSessionOwner } from '../../users/session-owner.ts';
import { renderField } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteRequest, SiteServices, SiteVisitor } from '../page.ts';
import { maxCodeChars } from '../pages/sign-in-code.ts';

/** How a visitor opens keys: once, or again and again with the password, and a code where the account has an app. */
export type RevealMode = 'once' | 'password' | 'password and code';

/** Users of single sign-on have no password to send: they see a key once. */
export async function findRevealMode({ user }: SiteVisitor, { portal, settings }: SiteServices): Promise<RevealMode> {
  if (settings['portal.secret_display'] === 'once' || user?.Provider !== 'password') return 'once';
  return (await portal.factors.hasTotp(toSessionOwner(user.ID))) ? 'password and code' : 'password';
}

export const wrongReveal = 'The password or the code is wrong. Nothing is shown.';

/** Tests the fields of the form; failures count as failed sign-ins. */
export const canReveal = ({ visitor, form, address }: SiteRequest, services: SiteServices): Promise<boolean> =>
  isReauthenticated(
    visitor.user!,
    { password: form('password').slice(0, maxPasswordBytes), otp: form('otp').slice(0, maxCodeChars), address },
    services,
  );

/** Disclosure with the fields of a re-authentication. */
export const renderRevealForm = (
  noun: 'key' | 'secret',
  credentialId: number,
  mode: RevealMode,
  action: string,
  hidden: Markup,
): Markup =>
  html`<details class="confirm"><summary>Show ${noun}</summary><form method="post" action="${action}">${hidden}
${renderField({
  name: 'password',
  id: `reveal_password_${credentialId}`,
  label: 'Your password',
  type: 'password',
  autocomplete: 'current-password',
  maxLength: maxPasswordBytes,
})}${
  mode === 'password and code'
    ? renderField({
        name: 'otp',
        id: `reveal_otp_${credentialId}`,
        label: 'Code',
        autocomplete: 'one-time-code',
        maxLength: maxCodeChars,
      })
    : ''
}<button class="secondary">Show ${noun}</button></form></details>`;
