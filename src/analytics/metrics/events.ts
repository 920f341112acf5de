import { counter, gauge, type MetricFamily } from './exposition.ts';

/** Event and delivery counts of dispatcher and sender. */
export interface EventCounts {
  readonly events: number;
  readonly deliveries: number;
  readonly droppedInMemory: number;
  readonly droppedInQueue: number;
  readonly cooledDown: number;
  readonly held: number;
  readonly delivered: number;
  readonly failed: number;
  readonly dead: number;
}

export const eventFamilies = (counts: EventCounts): MetricFamily[] => [
  counter('gw_events_total', 'Events that were looked at.', [{ value: counts.events }]),
  counter('gw_events_dropped_total', 'Events that handlers were not told, by where there was no room.', [
    { labels: { where: 'memory' }, value: counts.droppedInMemory },
    { labels: { where: 'queue' }, value: counts.droppedInQueue },
  ]),
  counter('gw_events_suppressed_total', 'Webhook calls not made because the same was told just before.', [
    { value: counts.cooledDown },
  ]),
  gauge('gw_events_queued', 'Events that wait to be written down.', [{ value: counts.held }]),
  counter('gw_deliveries_total', 'Webhook calls that were written down to be made.', [{ value: counts.deliveries }]),
  counter('gw_delivery_attempts_total', 'Attempts to make webhook calls, by what became of the call.', [
    { labels: { outcome: 'delivered' }, value: counts.delivered },
    { labels: { outcome: 'retried' }, value: counts.failed },
    { labels: { outcome: 'dead' }, value: counts.dead },
  ]),
];
