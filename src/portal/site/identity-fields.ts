import { maxPasswordBytes } from '#base/passwords.ts';
import { type FieldErrors, renderField } from './form.ts';
import type { Markup } from './markup.ts';
import { maxCodeChars } from './pages/sign-in-code.ts';

/** Fields by which a signed-in user proves the identity again. `id`: where several forms of a page have them. */
export const renderCurrentPassword = (id?: string, errors?: FieldErrors): Markup =>
  renderField({
    name: 'password',
    ...(id === undefined ? {} : { id }),
    label: 'Current password',
    type: 'password',
    autocomplete: 'current-password',
    maxLength: maxPasswordBytes,
    error: errors?.get('password'),
  });

export const renderCurrentCode = (id?: string): Markup =>
  renderField({
    name: 'otp',
    ...(id === undefined ? {} : { id }),
    label: 'Code',
    autocomplete: 'one-time-code',
    maxLength: maxCodeChars,
  });
