import { FilterSelect } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';
import { listRangeOptions, type TimeRange, toRangeChange } from './time-range.ts';

interface RangeSelectProps {
  /** Absent: any time, which `anyLabel` offers. */
  readonly range: TimeRange | undefined;
  readonly anyLabel?: string;
  onChange(change: ReturnType<typeof toRangeChange>): void;
}

export function RangeSelect({ range, anyLabel, onChange }: RangeSelectProps) {
  const { value, options } = listRangeOptions(range);
  const allOptions = anyLabel === undefined ? [] : [{ value: '', label: anyLabel }];
  return (
    <FilterSelect
      label={texts.logs.range}
      value={value}
      options={[...allOptions, ...options]}
      onChange={event => onChange(toRangeChange(event.target.value))}
    />
  );
}
