import { Badge } from '../../kit/badge.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { useOperation } from '../../kit/queries.ts';
import { texts } from '../../texts/texts.ts';

const own = texts.policies;

/** Product or plan of the developer portal behind which a policy is. */
export type PolicyOffer = ResultOf<'GET /api/portal/offers'>['offers'][number];

export function usePolicyOffers(ids: readonly string[]): (id: string) => readonly PolicyOffer[] {
  const policyIds = [...new Set(ids)].sort().join(',');
  const given = { query: { policy_ids: policyIds } };
  const { data } = useOperation('GET /api/portal/offers', given, { enabled: policyIds !== '', keepPrevious: true });
  const offers = data?.value.offers ?? [];
  return id => offers.filter(({ policy_id }) => policy_id === id);
}

export const OfferBadges = ({ offers }: { offers: readonly PolicyOffer[] }) => (
  <span className="inline-flex flex-wrap gap-1">
    {offers.map(({ kind, name }) => (
      <Badge key={`${kind} ${name}`} tone="info">
        {own.offers[kind](name)}
      </Badge>
    ))}
  </span>
);

/** Says where changes of a policy also appear; nothing for one that the portal does not use. */
export function PolicyOffers({ policyId }: { policyId: string }) {
  const offers = usePolicyOffers([policyId])(policyId);
  if (offers.length === 0) return null;
  return (
    <section
      aria-label={own.columns.portal}
      className="mb-4 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-card border border-info-line bg-info-soft px-3 py-2"
    >
      <OfferBadges offers={offers} />
      <p className="min-w-0 grow basis-60">{own.offeredAbout}</p>
    </section>
  );
}
