import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { lenientInt, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';
import {
  type CredentialListServices,
  credentialFilters,
  type FoundCredential,
  findCredentials,
} from './found-credentials.ts';
import { type NoticeServices, noticeResults, notifyOwners } from './owner-notices.ts';

/** Credentials of one call. */
const maxNoticed = 5000;
/** Audit records of one call; more credentials are one record with their number. */
const maxAudited = 100;
const maxHeadlineChars = 200;

type Services = CredentialListServices & NoticeServices;

const Notice = z.object({
  IDs: optionalMember(z.array(lenientInt).min(1).max(maxNoticed)).describe('Credentials; all that match if omitted'),
  State: optionalMember(credentialFilters.state),
  Unused: optionalMember(credentialFilters.unused),
  Q: optionalMember(textUpTo(100)).describe('Part of app, plan, product or hash'),
  Headline: optionalMember(nonEmptyText(maxHeadlineChars)).describe(
    'Subject of a note to the owners; without one, owners of credentials that expire in 30 days get the usual notice',
  ),
  Text: optionalMember(textUpTo(5000)).describe('Text of the note'),
});

async function findNoticed(body: z.output<typeof Notice>, services: Services): Promise<FoundCredential[]> {
  const { IDs, State, Unused, Q = '' } = body;
  const refuse = (path: string, message: string) => createInvalidProblem([{ path, message }]);
  if (body.Text && !body.Headline) throw refuse('Headline', 'is required with a text');
  const hasFilter = State !== undefined || Unused === true || Q !== '';
  if (!IDs && !hasFilter) throw refuse('IDs', 'or a filter is required');
  if (IDs && hasFilter) throw refuse('IDs', 'and a filter exclude each other');
  const filter = { q: Q, state: State, unused: Unused };
  const found = await findCredentials(filter, IDs ? Number.POSITIVE_INFINITY : maxNoticed + 1, services);
  if (!IDs && found.length > maxNoticed) throw refuse('Q', `matches more than ${maxNoticed} credentials: narrow it`);
  if (!IDs) return found;
  const wanted = new Set(IDs);
  return found.filter(({ credential }) => wanted.has(credential.ID));
}

export const notifyCredentialOwners = operation({
  surface: 'portal',
  noun: 'credentials',
  permission: 'secret',
  name: 'notifyCredentialOwners',
  method: 'POST',
  path: '/portal-api/credentials/notify',
  about:
    'Notifies the owners of credentials, each once and at most once in an hour, by mail or on the site as they chose: that they expire, or with a note.',
  body: Notice,
  example: { State: 'expiring' },
  returns: z.object({
    Owners: z.int().describe('Owners who were notified'),
    Results: z.array(z.object({ ID: z.int(), App: z.string(), Result: z.enum(noticeResults) })),
  }),
  async handle({ body, audit, auditEach }, services: Services) {
    const found = await findNoticed(body, services);
    const ids = found.map(({ credential }) => String(credential.ID));
    if (ids.length > maxAudited) audit(`${ids.length} credentials`);
    else auditEach(ids);
    const note = body.Headline === undefined ? undefined : { headline: body.Headline, text: body.Text ?? '' };
    const rows = new Map(found.map(({ row }) => [row.ID, row]));
    const { results, owners } = await notifyOwners(found, note, services);
    return {
      Owners: owners,
      Results: (body.IDs ?? found.map(({ row }) => row.ID)).map(ID => ({
        ID,
        App: rows.get(ID)?.App ?? '',
        Result: results.get(ID) ?? 'unknown',
      })),
    };
  },
});
