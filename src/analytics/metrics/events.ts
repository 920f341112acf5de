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
  counter('gw_events_total', 'Events emitted.', [{ value: counts.events }]),
  counter('gw_events_dropped_total', 'Events dropped before handlers received them, by full queue.', [
    { labels: { where: 'memory' }, value: counts.droppedInMemory },
    { labels: { where: 'queue' }, value: counts.droppedInQueue },
  ]),
  counter('gw_events_suppressed_total', 'Webhook deliveries suppressed by the cooldown of a handler.', [
    { value: counts.cooledDown },
  ]),
  gauge('gw_events_queued', 'Events in the queue to be stored.', [{ value: counts.held }]),
  counter('gw_deliveries_total', 'Webhook deliveries stored for sending.', [{ value: counts.deliveries }]),
  counter('gw_delivery_attempts_total', 'Attempts of webhook deliveries, by result.', [
    { labels: { outcome: 'delivered' }, value: counts.delivered },
    { labels: { outcome: 'retried' }, value: counts.failed },
    { labels: { outcome: 'dead' }, value: counts.dead },
  ]),
];
