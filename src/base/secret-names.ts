/** Conventional names of secrets, in camel case, snake case or with hyphens. */
const secretName = new RegExp(
  [
    'password|pass(?:wd|phrase|code)?$',
    'secret|hmac_string|token$',
    '(?:api|access|private)[-_]?key',
    '^(?:otp|private)$',
  ].join('|'),
  'i',
);

/** True for names of members, settings and parameters whose values are masked in logs, traces and rule inputs. */
export const isSecretName = (name: string): boolean => secretName.test(name);
