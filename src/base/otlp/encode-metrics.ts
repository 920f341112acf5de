import { formatNanoseconds, ProtobufWriter } from '../protobuf/protobuf-writer.ts';
import { formatAttributes, formatText, writeAttributes } from './encode-attributes.ts';
import { type HistogramPoint, type NumberPoint, type OtlpMetric, temporalities } from './metric.ts';
import type { OtlpProtocol } from './span.ts';

/** Field numbers of opentelemetry/proto/metrics/v1/metrics.proto, OTLP 1.x. */
const scopeMetrics = { metrics: 2 } as const;
const metricFields = { name: 1, description: 2, unit: 3, gauge: 5, sum: 7, histogram: 9 } as const;
const dataFields = { points: 1, temporality: 2, isMonotonic: 3 } as const;
const pointFields = { start: 2, time: 3, asDouble: 4, attributes: 7 } as const;
const histogramFields = { start: 2, time: 3, count: 4, sum: 5, buckets: 6, bounds: 7, attributes: 9 } as const;

/** Metrics as the elements of `ScopeMetrics.metrics`. */
export function encodeMetrics(protocol: OtlpProtocol, metrics: readonly OtlpMetric[]): Uint8Array {
  if (protocol === 'json') return new TextEncoder().encode(metrics.map(formatMetric).join());
  const writer = new ProtobufWriter();
  for (const metric of metrics) writeMetric(writer, metric);
  return writer.drain();
}

function writeMetric(writer: ProtobufWriter, metric: OtlpMetric): void {
  const start = writer.beginMessage(scopeMetrics.metrics);
  writer.writeString(metricFields.name, metric.name);
  if (metric.description !== '') writer.writeString(metricFields.description, metric.description);
  if (metric.unit !== '') writer.writeString(metricFields.unit, metric.unit);
  const dataStart = writer.beginMessage(metricFields[metric.kind]);
  if (metric.kind === 'histogram') for (const point of metric.points) writeHistogramPoint(writer, point);
  else for (const point of metric.points) writeNumberPoint(writer, point);
  if (metric.kind !== 'gauge') writer.writeUnsigned(dataFields.temporality, temporalities[metric.temporality]);
  if (metric.kind === 'sum') writer.writeUnsigned(dataFields.isMonotonic, 1);
  writer.endMessage(dataStart);
  writer.endMessage(start);
}

function writeNumberPoint(writer: ProtobufWriter, point: NumberPoint): void {
  const start = writer.beginMessage(dataFields.points);
  if (point.startMs > 0) writer.writeNanoseconds(pointFields.start, point.startMs);
  writer.writeNanoseconds(pointFields.time, point.atMs);
  writer.writeDouble(pointFields.asDouble, point.value);
  writeAttributes(writer, pointFields.attributes, point.attributes);
  writer.endMessage(start);
}

function writeHistogramPoint(writer: ProtobufWriter, point: HistogramPoint): void {
  const start = writer.beginMessage(dataFields.points);
  writer.writeNanoseconds(histogramFields.start, point.startMs);
  writer.writeNanoseconds(histogramFields.time, point.atMs);
  writer.writeFixed64(histogramFields.count, point.count);
  writer.writeDouble(histogramFields.sum, point.sum);
  writer.writePackedFixed64(histogramFields.buckets, point.buckets);
  writer.writePackedDouble(histogramFields.bounds, point.bounds);
  writeAttributes(writer, histogramFields.attributes, point.attributes);
  writer.endMessage(start);
}

function formatMetric(metric: OtlpMetric): string {
  const description = metric.description === '' ? '' : `,"description":${formatText(metric.description)}`;
  const unit = metric.unit === '' ? '' : `,"unit":${formatText(metric.unit)}`;
  const points = metric.kind === 'histogram' ? metric.points.map(formatHistogramPoint) : metric.points.map(formatPoint);
  const temporality = metric.kind === 'gauge' ? '' : `,"aggregationTemporality":${temporalities[metric.temporality]}`;
  const monotonic = metric.kind === 'sum' ? ',"isMonotonic":true' : '';
  const data = `{"dataPoints":[${points.join()}]${temporality}${monotonic}}`;
  return `{"name":${formatText(metric.name)}${description}${unit},"${metric.kind}":${data}}`;
}

const formatTimes = ({ startMs, atMs }: NumberPoint | HistogramPoint): string =>
  (startMs > 0 ? `"startTimeUnixNano":"${formatNanoseconds(startMs)}",` : '') +
  `"timeUnixNano":"${formatNanoseconds(atMs)}"`;

/** A repeated field without elements is absent, as on the wire. */
const formatLabels = ({ attributes }: NumberPoint | HistogramPoint): string =>
  attributes.length === 0 ? '' : `,"attributes":${formatAttributes(attributes)}`;

const formatPoint = (point: NumberPoint): string =>
  `{${formatTimes(point)},"asDouble":${point.value}${formatLabels(point)}}`;

function formatHistogramPoint(point: HistogramPoint): string {
  const buckets = point.buckets.map(count => `"${count}"`).join();
  const counts = `"count":"${point.count}","sum":${point.sum},"bucketCounts":[${buckets}]`;
  return `{${formatTimes(point)},${counts},"explicitBounds":[${point.bounds.join()}]${formatLabels(point)}}`;
}
