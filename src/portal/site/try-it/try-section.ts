import { toJsonFile } from '../json/json-file.ts';
import type { Markup } from '../markup.ts';
import type { SiteFields, SiteFile, SiteRequest, SiteServices } from '../page.ts';
import { canTry, needsCertificate, type TryOutcome, type TryTarget } from './try-call.ts';
import { listTryCredentials } from './try-credentials.ts';
import { renderTryForm, renderTryNotice, renderTrySignIn, type TryView } from './try-form.ts';

/** A form that was sent, and its result. */
export interface SentTry {
  readonly outcome: TryOutcome;
  readonly form: SiteFields;
}

interface TrySection extends TryTarget, Pick<TryView, 'hidden' | 'bodyText'> {
  readonly query?: string;
  readonly sent: SentTry | undefined;
}

/** Methods that the guarded client does not send. */
const unsentMethods = new Set(['TRACE', 'CONNECT']);

/** Form with which a visitor calls an operation, or what is needed for it; empty where calls are switched off. */
export async function renderTrySection(
  { product, operation, hidden, bodyText, query, sent }: TrySection,
  { visitor, path, isEmbedded }: SiteRequest,
  services: SiteServices,
): Promise<Markup | ''> {
  if (services.settings['portal.try_it'] === 'off' || unsentMethods.has(operation.method)) return '';
  if (isEmbedded) return renderTryNotice('Open this page on the portal itself to send calls.');
  if (needsCertificate(product))
    return renderTryNotice('This API needs a client certificate, which this page cannot present: use the cURL sample.');
  if (!canTry(product, visitor, services)) return visitor.user ? '' : renderTrySignIn(path);
  const credentials = await listTryCredentials(product, visitor, services);
  return renderTryForm({
    operation,
    hidden,
    credentials,
    visitor,
    bodyText,
    query,
    sent: sent?.form,
    outcome: sent?.outcome,
  });
}

/** Result for the script of the page. */
export const toJsonReply = (outcome: TryOutcome): SiteFile => toJsonFile(outcome, outcome.status);
