/** Patterns that hang or exhaust backtracking engines, and invalid ones. */
const words = (count: number) => Array.from({ length: count }, (_, at) => `word${at}`).join('|');

export const hostilePatterns: Readonly<Record<string, string>> = {
  'repeats of repeats': '(a+)+$',
  'repeats of anything': '(a*)*b',
  'repeats three deep': '((a+)+)+$',
  'two ways to say the same': '(a|aa)+$',
  'nothing, many times': '(|a)*$',
  'maybe something, many times': '(a|a?)+$',
  'everything, again and again': '(.*a){20}$',
  'many open ends': '.*.*.*.*.*.*.*.*.*.*=.*',
  'a thousand': 'a{1000}$',
  'a thousand thousands': '(a{1000}){1000}',
  'a thousand maybes': '(?:a?){1000}a{1000}',
  'ranges of ranges': '[a-z]{1,900}[a-z0-9]{1,900}[a-z]{1,900}$',
  'all letters of the world': '\\pL{900}$',
  'what came before': '(a+)\\1$',
  'what comes next': '(?=a+$)a',
  'what came just before': '(?<=a)a+$',
  'no way back': '(?>a+)b',
  'greedy for ever': 'a++b',
  'an enormous choice': `(${words(20_000)})`,
  'a large choice': `(${words(400)})`,
  'very deep brackets': `${'('.repeat(1500)}a${')'.repeat(1500)}`,
  'deep brackets': `${'('.repeat(100)}a${')'.repeat(100)}`,
  'one name twice': '(?P<n>a)(?P<n>a)',
  'an open bracket': '(',
  'an open class': '[a',
  'a count backwards': 'a{2,1}',
  'a star alone': '*a',
  'an unknown character class': '\\p{Nothing}',
  'a bracket too many': 'a)(b',
};

/** Inputs that trigger catastrophic backtracking. */
export const hostileText = `${'a'.repeat(7000)}!`;
