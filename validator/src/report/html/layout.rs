//! Where things of a picture lie, in pixels.

use crate::report::picture::{Band, Edge, Picture, Relation};

/// Size of an event's box.
pub(super) const BOX: (i32, i32) = (206, 42);
/// Between two columns, and from the edge of the picture to the first and the last.
const GAP: i32 = 104;
const MARGIN: i32 = 60;
/// From one row to the next.
const ROW: i32 = 64;
/// Height of a band, and of a column's name.
pub(super) const BAND: i32 = 22;
const NAME: i32 = 40;
/// Size of what is shown of an event or edge that is pointed at.
pub(super) const TIP: (i32, i32) = (430, 230);

/// Pictures that are wider are scrolled.
const WIDE: i32 = 1_000;

/// The layout of a picture.
pub(super) struct Layout<'a> {
    picture: &'a Picture,
    /// Bands above the names of columns.
    bands: i32,
}

/// A band over several columns.
pub(super) struct Span {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) text: String,
}

/// An edge as a curve, by its ends and two points that pull at it.
#[derive(Clone, Copy)]
pub(super) struct Curve([(i32, i32); 4]);

impl Curve {
    /// As SVG writes it.
    pub(super) fn path(&self) -> String {
        let [a, b, c, d] = self.0;
        format!("M{} {}C{} {} {} {} {} {}", a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1)
    }

    /// A point of it: 0 is its beginning, 1 its end.
    fn at(&self, t: f64) -> (i32, i32) {
        let u = 1.0 - t;
        let along = |coordinate: fn((i32, i32)) -> i32| {
            let [a, b, c, d] = self.0.map(|point| f64::from(coordinate(point)));
            (u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d).round() as i32
        };
        (along(|point| point.0), along(|point| point.1))
    }
}

impl<'a> Layout<'a> {
    pub(super) fn of(picture: &'a Picture) -> Layout<'a> {
        let has_bands = picture.columns.iter().any(|column| column.workgroup != Band::None);
        Layout { picture, bands: if has_bands { 2 * BAND } else { 0 } }
    }

    /// Width and height.
    pub(super) fn size(&self) -> (i32, i32) {
        let columns = self.picture.columns.len() as i32;
        let width = 2 * MARGIN + columns * BOX.0 + (columns - 1).max(0) * GAP;
        let height = self.top() + self.picture.rows as i32 * ROW + 4;
        match width > WIDE {
            true => (width, height.max(TIP.1 + 8)),
            false => (width, height),
        }
    }

    /// Whether it is scrolled: then nothing is shown beyond its edges.
    pub(super) fn is_wide(&self) -> bool {
        self.size().0 > WIDE
    }

    /// Where the first row begins.
    fn top(&self) -> i32 {
        self.bands + NAME + 6
    }

    /// The left side of a column.
    pub(super) fn x(&self, column: usize) -> i32 {
        MARGIN + column as i32 * (BOX.0 + GAP)
    }

    /// The upper side of a row's boxes.
    pub(super) fn y(&self, row: usize) -> i32 {
        self.top() + row as i32 * ROW
    }

    /// Where a column's name stands.
    pub(super) fn name_y(&self) -> i32 {
        self.bands + 16
    }

    /// The workgroups, and under them the subgroups.
    pub(super) fn spans(&self) -> Vec<Span> {
        if self.bands == 0 {
            return Vec::new();
        }
        let columns = &self.picture.columns;
        let text = |band: &Band, others: &str| match band {
            Band::One(_, name) => name.clone(),
            Band::Others => others.to_owned(),
            Band::None => String::new(),
        };
        let mut spans = Vec::new();
        let mut start = 0;
        for workgroup in columns.chunk_by(|a, b| a.workgroup == b.workgroup) {
            let others = if spans.is_empty() { "workgroups" } else { "other workgroups" };
            spans.push(self.span(start, workgroup.len(), 0, text(&workgroup[0].workgroup, others)));
            let mut first = start;
            for subgroup in workgroup.chunk_by(|a, b| a.subgroup == b.subgroup) {
                let others = match workgroup[0].workgroup {
                    Band::One(..) if first > start => "other subgroups",
                    Band::One(..) | Band::Others | Band::None => "subgroups",
                };
                spans.push(self.span(first, subgroup.len(), BAND, text(&subgroup[0].subgroup, others)));
                first += subgroup.len();
            }
            start += workgroup.len();
        }
        spans
    }

    fn span(&self, first: usize, count: usize, y: i32, text: String) -> Span {
        let x = self.x(first) - 14;
        let end = self.x(first + count - 1) + BOX.0 + 14;
        Span { x, y, width: end - x, text }
    }

    /// The program order of a column: x, and y from where to where.
    pub(super) fn program_order(&self, column: usize) -> Option<(i32, i32, i32)> {
        let events = self.picture.events.iter().filter(|event| event.column == column);
        let gaps = self.picture.gaps.iter().filter(|gap| gap.column == column);
        let rows: Vec<usize> = events.map(|event| event.row).chain(gaps.map(|gap| gap.row)).collect();
        let (first, last) = (rows.iter().min()?, rows.iter().max()?);
        Some((self.x(column) + BOX.0 / 2, self.y(*first) + BOX.1 / 2, self.y(*last) + BOX.1 / 2))
    }

    /// Where to show what there is to say of something in this place.
    pub(super) fn tip(&self, x: i32, y: i32) -> (i32, i32, bool) {
        let (width, height) = self.size();
        let left = x.min(width - TIP.0 - 4).max(2);
        let below = y + BOX.1 / 2 + 6;
        match below + TIP.1 <= height || !self.is_wide() {
            true => (left, below, false),
            false if y - BOX.1 / 2 - 6 >= TIP.1 => (left, y - BOX.1 / 2 - 6 - TIP.1, true),
            false => (left, (height - TIP.1).max(0), false),
        }
    }

    /// The curve of an edge. Those of different relations between the same events do not cover each other.
    pub(super) fn curve(&self, edge: &Edge) -> Curve {
        let (from, to) = (&self.picture.events[edge.from], &self.picture.events[edge.to]);
        let lane = lane(edge);
        let (y1, y2) = (self.y(from.row) + BOX.1 / 2 + lane, self.y(to.row) + BOX.1 / 2 + lane);
        let (x1, x2) = (self.x(from.column), self.x(to.column));
        let [a, b, c, d] = if from.column == to.column {
            let bulge = (24 + 9 * from.row.abs_diff(to.row) as i32).min(MARGIN - 6);
            // Downwards on the left, upwards on the right.
            let (side, far) = match from.row <= to.row {
                true => (x1, x1 - bulge),
                false => (x1 + BOX.0, x1 + BOX.0 + bulge),
            };
            [(side, y1), (far, y1), (far, y2), (side, y2)]
        } else {
            let right = to.column > from.column;
            let (start, end) = if right { (x1 + BOX.0, x2) } else { (x1, x2 + BOX.0) };
            let reach = ((end - start).abs() / 2).clamp(36, 160) * if right { 1 } else { -1 };
            // Around the boxes that stand between.
            let over = from.row == to.row && from.column.abs_diff(to.column) > 1;
            let lift = if over { (16 * from.column.abs_diff(to.column) as i32 + 12).min(60) } else { 0 };
            // Steep parts side by side, too.
            let aside = if (y1 < y2) == right { -lane } else { lane };
            let (first, second) = (start + reach + aside, end - reach + aside);
            [(start, y1), (first, y1 - lift), (second, y2 - lift), (end, y2)]
        };
        Curve([a, b, c, d])
    }

    /// The middle of each edge's label, which has so many characters: where it covers neither an event nor another label,
    /// as far as there is such a place.
    pub(super) fn labels(&self, curves: &[Curve], lengths: &[usize]) -> Vec<(i32, i32)> {
        let boxes = self.picture.events.iter().map(|event| {
            let (x, y) = (self.x(event.column), self.y(event.row));
            (x, y, x + BOX.0, y + BOX.1)
        });
        let mut taken: Vec<(i32, i32, i32, i32)> = boxes.collect();
        let mut labels = Vec::new();
        for (at, curve) in curves.iter().enumerate() {
            let half = (7 * lengths[at] as i32) / 2 + 1;
            let area = |(x, y): (i32, i32)| (x - half, y - 7, x + half, y + 6);
            let covered = |place: &(i32, i32)| {
                let (left, top, right, bottom) = area(*place);
                taken
                    .iter()
                    .filter(|other| left < other.2 && other.0 < right && top < other.3 && other.1 < bottom)
                    .count()
            };
            let first = place(self.picture.edges[at].relation);
            let places = [0.0, 0.08, -0.08, 0.16, -0.16, 0.24, -0.24, 0.32, -0.32]
                .map(|aside| curve.at((first + aside).clamp(0.08, 0.92)));
            // The first of those that cover least.
            let best = places.iter().min_by_key(|place| covered(place)).copied().unwrap_or(places[0]);
            taken.push(area(best));
            labels.push(best);
        }
        labels
    }
}

/// How far below the middle of a box an edge begins and ends.
const fn lane(edge: &Edge) -> i32 {
    match edge.relation {
        // One may lead back between the same events.
        Relation::Cycle if edge.from < edge.to => -17,
        Relation::Cycle => -11,
        Relation::ReadsFrom => -7,
        Relation::SynchronizesWith => -2,
        Relation::Lost | Relation::Missing | Relation::Race => 3,
        Relation::FromReads => 8,
        Relation::Availability => 13,
        Relation::LocationOrdered => 17,
    }
}

/// Where on an edge its label stands: 0 is its beginning, 1 its end.
const fn place(relation: Relation) -> f64 {
    match relation {
        Relation::ReadsFrom => 0.36,
        Relation::SynchronizesWith => 0.5,
        Relation::FromReads => 0.28,
        Relation::Availability => 0.62,
        Relation::LocationOrdered => 0.72,
        Relation::Race | Relation::Lost | Relation::Missing => 0.5,
        Relation::Cycle => 0.44,
    }
}
