import type { Settings } from '#base/settings.ts';
import type { Answer } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refusalAnswer } from './refusals.ts';

const generator = 'gatewright';

/** Makes of a refusal what the settings say: who refused, with which status and in which words. */
export function refusalWords(settings: Settings): (call: Exchange, given: Answer) => void {
  const wordings = new Map(Object.entries(settings['gateway.messages']));
  const named = settings['gateway.generator_header'];
  return (call, given) => {
    const wording = wordings.get(call.refusal);
    if (wording) {
      given.status = wording.status ?? given.status;
      if (wording.message !== undefined) {
        const other = refusalAnswer(call, given.status, wording.message);
        given.headers.set('Content-Type', other.headers.get('content-type')!);
        given.body = other.body;
        given.message = other.message;
      }
    }
    if (named) given.headers.set('X-Generator', generator);
  };
}
