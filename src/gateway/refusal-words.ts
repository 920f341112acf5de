import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Answer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { refusalAnswer, refusals } from './refusals.ts';

const problem = problems('messages', {
  unknown: { status: 500, message: 'gateway.messages: no refusal has the code {code}; see docs/reference/refusals.md' },
  of_definitions: { status: 500, message: 'gateway.messages: definitions choose the words of {code}' },
});

const generator = 'gatewright';
/** Definitions are nearer to the call than settings. */
const wordsOfDefinitions: ReadonlySet<string> = new Set(['signature_invalid']);

/** A wording for a refusal that does not exist would never be read by anybody. */
export function checkMessages(settings: Pick<Settings, 'gateway.messages'>): void {
  for (const code of Object.keys(settings['gateway.messages'])) {
    if (wordsOfDefinitions.has(code)) throw problem.of_definitions({ detail: { code } });
    if (!Object.hasOwn(refusals, code)) throw problem.unknown({ detail: { code } });
  }
}

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
      }
    }
    if (named) given.headers.set('X-Generator', generator);
  };
}
