export interface ChartSeries {
  readonly label: string;
  /** One value for each time; null is a gap. */
  readonly values: readonly (number | null)[];
  /** Errors are red and client errors amber everywhere; others have the colour of their place. */
  readonly tone?: 'danger' | 'warning';
  /** Values of another time, to compare with. */
  readonly isDashed?: true;
}

export interface ChartProps {
  /** One sentence that says what the chart shows. */
  readonly summary: string;
  /** Unix seconds, ascending. */
  readonly times: readonly number[];
  readonly series: readonly ChartSeries[];
  /** Unix seconds of events: vertical lines. The page lists what they are. */
  readonly marks?: readonly number[];
  readonly unit?: string;
  readonly height?: number;
  /** The plot can be saved as a PNG file of this name. */
  readonly fileName?: string;
  /** A value was chosen, by the pointer in the plot or in the table: its time, and the place of its series. */
  onPick?(time: number, series: number): void;
}

export interface PlotProps extends ChartProps {
  /** The plot is loaded and its canvas exists. */
  onDrawn(): void;
}
