import { inverted } from '../field-codecs.ts';
import { flag, text } from '../rules.ts';

/** One plugin. */
export const pluginFields = {
  enabled: { rule: flag, classic: inverted('disabled'), about: 'Runs it.' },
  functionName: { rule: text, classic: 'name', about: 'The function or object that is called.' },
  path: { rule: text, reads: 'nothing', about: 'The file it is in.' },
  code: { rule: text, reads: 'nothing', about: 'The source itself in base64; it wins over the file.' },
  rawBodyOnly: { rule: flag, classic: 'raw_body_only', about: 'Hands over the body as bytes only.' },
  requireSession: { rule: flag, classic: 'require_session', about: 'Hands over the session of the caller.' },
} as const;
