import type { PasswordPolicy } from '#base/passwords.ts';
import type { Settings } from '#base/settings.ts';

/** Policy for new passwords of dashboard users. */
export const readPasswordPolicy = (settings: Settings): PasswordPolicy => ({
  minLength: settings['users.password_min_length'],
  multiCase: settings['users.password_multi_case'],
  minNumeric: settings['users.password_min_numeric'],
  minSpecial: settings['users.password_min_special'],
  disableSequential: settings['users.password_disable_sequential'],
});
