import { adminTexts } from '../../texts/admin-texts.ts';

const names = adminTexts.forms.authentication;

/** Ways of authentication in words. */
export const describeAuthentication = (types: readonly string[]): string =>
  [...new Set(types.filter(it => it !== 'other').map(it => names[it] ?? it))].join(', ');
