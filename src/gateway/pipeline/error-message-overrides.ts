import type { Settings } from '#base/settings.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import { refusalAnswer } from './refusals.ts';

const generator = 'gatewright';

/** Makes of a refusal what the settings say: who refused, with which status and in which words. */
export function refusalWords(settings: Settings): (call: Exchange, response: GatewayResponse) => void {
  const wordings = new Map(Object.entries(settings['gateway.messages']));
  const named = settings['gateway.generator_header'];
  return (call, response) => {
    const wording = wordings.get(call.errorCode);
    if (wording) {
      response.status = wording.status ?? response.status;
      if (wording.message !== undefined) {
        const other = refusalAnswer(call, response.status, wording.message);
        response.headers.set('Content-Type', other.headers.get('content-type')!);
        response.body = other.body;
        response.message = other.message;
      }
    }
    if (named) response.headers.set('X-Generator', generator);
  };
}
