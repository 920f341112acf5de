import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import { wholeList } from '#storage/collection.ts';
import type { Records } from '#storage/records.ts';
import { problem } from '../problems.ts';
import type { OrganisationStore } from './store.ts';

interface PortalDomainServices {
  organisations: OrganisationStore;
  records: Records;
}

/** Host name (RFC 1123, 2.1), without a port. */
const domain = z
  .string()
  .max(253)
  .transform(text => text.toLowerCase())
  .refine(
    text => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(text),
    'must be a host name',
  );

export const generatePortals = operation({
  surface: 'admin',
  noun: 'organisations',
  permission: 'secret',
  name: 'generatePortals',
  method: 'POST',
  path: '/admin/organisations/{orgId}/generate-portals',
  about: 'Sets the domain of an organisation’s developer portal (cname) and enables it.',
  params: z.object({ orgId: z.string() }),
  accepts: 'form',
  body: z.object({ domain }),
  returns: statusResponse,
  problems: [problem.organisation_not_found, problem.domain_taken],
  async handle(
    { params: { orgId }, body: { domain: cname }, audit },
    { organisations, records }: PortalDomainServices,
  ) {
    audit(orgId, orgId);
    await records.write(async () => {
      const changed = await organisations.change(orgId, it => ({ ...it, cname, cname_enabled: true }));
      if (!changed) throw problem.organisation_not_found();
      const { items } = await organisations.page(wholeList);
      if (items.some(it => it.id !== orgId && it.cname_enabled && it.cname?.toLowerCase() === cname))
        throw problem.domain_taken({ detail: { domain: cname } });
    });
    return toStatus('Org updated');
  },
});

export const portalDomainOperations = [generatePortals];
