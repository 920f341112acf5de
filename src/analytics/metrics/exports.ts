import type { ExportTotals } from '#base/otlp/exporter.ts';
import { counter, type MetricFamily } from './exposition.ts';

/** Counts of exported spans; `droppedInThreads`: spans dropped before they reached the main thread. */
export const spanFamilies = (totals: ExportTotals & { readonly droppedInThreads: number }): MetricFamily[] => [
  counter('gw_spans_exported_total', 'Spans that the collector accepted.', [{ value: totals.exported }]),
  counter(
    'gw_spans_dropped_total',
    'Spans that were not exported, by where they were dropped: thread, queue or collector.',
    [
      { labels: { where: 'thread' }, value: totals.droppedInThreads },
      { labels: { where: 'queue' }, value: totals.dropped },
      { labels: { where: 'collector' }, value: totals.failed },
    ],
  ),
];

/** Counts of exported points of metrics. */
export const pointFamilies = ({ exported, dropped, failed }: ExportTotals): MetricFamily[] => [
  counter('gw_metric_points_exported_total', 'Data points that the collector accepted.', [{ value: exported }]),
  counter('gw_metric_points_dropped_total', 'Data points that were not exported, by where they were dropped.', [
    { labels: { where: 'queue' }, value: dropped },
    { labels: { where: 'collector' }, value: failed },
  ]),
];
