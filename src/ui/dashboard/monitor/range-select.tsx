import { FilterSelect } from '../../kit/field.tsx';
import { texts } from '../../texts/texts.ts';
import { listRangeOptions, type TimeRange, toRangeChange } from './time-range.ts';

interface RangeSelectProps {
  readonly range: TimeRange;
  onChange(change: ReturnType<typeof toRangeChange>): void;
}

export const RangeSelect = ({ range, onChange }: RangeSelectProps) => (
  <FilterSelect
    label={texts.logs.range}
    {...listRangeOptions(range)}
    onChange={event => onChange(toRangeChange(event.target.value))}
  />
);
