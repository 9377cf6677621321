//! Sorts, kinds and operators of a module with all that it imports.
//!
//! Sorts of a connected component form a kind, which has an element of its own above them: the sort of terms that have
//! none. The least sort of an application is looked up in a decision diagram over the sorts of its arguments.

use rustc_hash::FxHashMap;
use source::{Diagnostic, Span};

use crate::names::Name;
use crate::syntax::tree::{ObjectRole, Special};
use crate::terms::TermId;

/// A sort, or a kind as the largest of its sorts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SortId(pub u32);

/// A kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u32);

/// An operator: all declarations of a name whose arguments and results have the same kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub u32);

/// A sort.
#[derive(Clone, Debug)]
pub struct Sort {
    /// Its name; for kinds in brackets.
    pub name: Name,
    /// The kind it belongs to.
    pub kind: KindId,
    /// Position in its kind; 0 is the kind itself.
    pub index: u32,
}

/// A kind.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its elements: the kind itself, then its sorts, larger ones before smaller ones.
    pub sorts: Vec<SortId>,
}

/// One declaration of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The sorts of the arguments.
    pub domain: Vec<SortId>,
    /// The sort of the result.
    pub range: SortId,
    /// Whether it is a constructor.
    pub ctor: bool,
}

/// The equational laws that hold for an operator without being written as equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// None.
    Free,
    /// Commutativity, identities, idempotence; not associativity.
    Pair,
    /// Associativity, perhaps with identities.
    List,
    /// Associativity and commutativity, perhaps with an identity.
    Bag,
    /// A unary operator whose repetitions are counted.
    Iter,
    /// Constants of built-in types: strings, floating-point numbers, quoted identifiers.
    Data,
}

/// An operator.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name, with underscores for arguments.
    pub name: Name,
    /// The kinds of its arguments.
    pub domain: Vec<KindId>,
    /// The kind of its results.
    pub range: KindId,
    /// Its declarations.
    pub profiles: Vec<Profile>,
    /// The laws.
    pub theory: Theory,
    /// Whether arguments can be exchanged.
    pub comm: bool,
    /// Whether it is idempotent.
    pub idem: bool,
    /// What disappears on the left.
    pub left_identity: Option<TermId>,
    /// What disappears on the right.
    pub right_identity: Option<TermId>,
    /// How tightly it binds; smaller is tighter.
    pub prec: u32,
    /// The largest precedence of each argument.
    pub gather: Vec<u32>,
    /// Whether `prec` was written.
    pub own_prec: bool,
    /// Whether `gather` was written.
    pub own_gather: bool,
    /// How it is printed.
    pub format: Option<Vec<Name>>,
    /// The order in which arguments are evaluated; none for the usual one.
    pub strategy: Option<Vec<u32>>,
    /// Whether results are kept.
    pub memo: bool,
    /// Arguments that rules leave alone.
    pub frozen: Vec<bool>,
    /// Which arguments (from 1) and results (0) are of any kind.
    pub poly: Vec<u32>,
    /// What it is in configurations.
    pub object: Option<ObjectRole>,
    /// Its built-in meaning.
    pub special: Option<Special>,
    /// The sorts of data of a special form, and the names of the forms.
    pub forms: Vec<(Name, SortId)>,
    /// `metadata`.
    pub metadata: Option<Name>,
    /// The parts of its name: words, and none for arguments. Empty where the name has no underscores.
    pub mixfix: Vec<Option<Name>>,
    /// Where it is declared first.
    pub span: Span,
    /// The module that declares it first.
    pub module: Name,
    /// For lists and bags: a sort that every application has whose arguments are below it. Then the sort of a list does
    /// not depend on what is in it.
    pub plateau: Option<SortId>,
    diagram: Vec<u32>,
}

impl Symbol {
    /// How many arguments it has.
    pub fn arity(&self) -> usize {
        self.domain.len()
    }

    /// Whether it is associative.
    pub fn is_assoc(&self) -> bool {
        matches!(self.theory, Theory::List | Theory::Bag)
    }

    /// Whether all its declarations are constructors'.
    pub fn is_ctor(&self) -> bool {
        self.profiles.iter().all(|profile| profile.ctor)
    }

    /// What an application is that has lost its other arguments.
    pub fn identity(&self) -> Option<TermId> {
        self.left_identity.or(self.right_identity)
    }

    /// Whether the built-in operation has this name.
    pub fn is_special(&self, id: &str) -> bool {
        self.special.as_ref().is_some_and(|special| special.id.text() == id)
    }
}

/// The sorts and operators of a module.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// All sorts, each kind among them.
    pub sorts: Vec<Sort>,
    /// All kinds.
    pub kinds: Vec<Kind>,
    /// All operators, in the order of their first declarations.
    pub symbols: Vec<Symbol>,
    sort_names: FxHashMap<Name, SortId>,
    symbol_names: FxHashMap<Name, Vec<SymbolId>>,
    /// Bit `b` of row `a`: `a` is below or equal to `b`.
    below: Vec<u64>,
    row: usize,
}

impl Signature {
    /// A signature with these sorts and direct subsorts (smaller, larger), and nothing else. Cycles give an error.
    pub fn new(names: &[Name], subsorts: &[(Name, Name, Span)]) -> Result<Self, Box<Diagnostic>> {
        let number: FxHashMap<Name, usize> = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
        let count = names.len();
        let mut above: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut component: Vec<usize> = (0..count).collect();
        fn root(component: &mut [usize], mut at: usize) -> usize {
            while component[at] != at {
                component[at] = component[component[at]];
                at = component[at];
            }
            at
        }
        for (small, large, _) in subsorts {
            let (small, large) = (number[small], number[large]);
            if !above[small].contains(&large) {
                above[small].push(large);
            }
            let (a, b) = (root(&mut component, small), root(&mut component, large));
            component[a.max(b)] = a.min(b);
        }
        // Larger sorts first: a topological order that begins with the largest ones as Maude finds them, from each sort
        // down to smaller ones before going up to larger ones. Names of kinds show that order.
        let mut waiting: Vec<usize> = above.iter().map(Vec::len).collect();
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (small, large, _) in subsorts {
            let (small, large) = (number[small], number[large]);
            if !below[large].contains(&small) {
                below[large].push(small);
            }
        }
        let mut order: Vec<usize> = Vec::with_capacity(count);
        let mut seen = vec![false; count];
        for first in 0..count {
            // Sorts with the neighbours that are still to be visited: smaller ones, then larger ones.
            let mut path: Vec<(usize, usize)> = Vec::new();
            if !std::mem::replace(&mut seen[first], true) {
                path.push((first, 0));
            }
            while let Some((at, next)) = path.last_mut() {
                let neighbour = below[*at].iter().chain(&above[*at]).nth(*next).copied();
                *next += 1;
                match neighbour {
                    Some(neighbour) if !std::mem::replace(&mut seen[neighbour], true) => {
                        path.push((neighbour, 0));
                    }
                    Some(_) => {}
                    None => {
                        if above[*at].is_empty() {
                            order.push(*at);
                        }
                        path.pop();
                    }
                }
            }
        }
        let mut next = 0;
        while next < order.len() {
            for &small in &below[order[next]] {
                waiting[small] -= 1;
                if waiting[small] == 0 {
                    order.push(small);
                }
            }
            next += 1;
        }
        if order.len() < count {
            let in_cycle = |name: &Name| waiting[number[name]] > 0;
            let (small, large, span) = subsorts
                .iter()
                .find(|(small, large, _)| in_cycle(small) && in_cycle(large))
                .expect("a cycle");
            let error = Diagnostic::error(format!("sort `{small}` is below itself"))
                .label(*span, format!("`{small}` < `{large}` closes a cycle of subsorts"));
            return Err(Box::new(error));
        }
        let mut signature = Self::default();
        // Sorts keep the order of their declarations; kinds follow in the order of their first sorts.
        let mut kinds: FxHashMap<usize, usize> = FxHashMap::default();
        for (at, &name) in names.iter().enumerate() {
            let root = root(&mut component, at);
            let fresh = kinds.len();
            let kind = *kinds.entry(root).or_insert(fresh);
            if kind == signature.kinds.len() {
                signature.kinds.push(Kind { sorts: Vec::new() });
            }
            signature.sorts.push(Sort { name, kind: KindId(kind as u32), index: 0 });
            signature.sort_names.insert(name, SortId(at as u32));
        }
        for kind in 0..signature.kinds.len() {
            let own = SortId(signature.sorts.len() as u32);
            let members: Vec<usize> =
                order.iter().copied().filter(|&at| signature.sorts[at].kind.0 as usize == kind).collect();
            let largest = members.iter().filter(|&&at| above[at].is_empty());
            let text: Vec<&str> = largest.map(|&at| names[at].text()).collect();
            let name = Name::new(&format!("[{}]", text.join(",")));
            signature.sorts.push(Sort { name, kind: KindId(kind as u32), index: 0 });
            let sorts = std::iter::once(own).chain(members.iter().map(|&at| SortId(at as u32))).collect();
            for (index, &at) in members.iter().enumerate() {
                signature.sorts[at].index = index as u32 + 1;
            }
            signature.kinds[kind] = Kind { sorts };
        }
        let total = signature.sorts.len();
        signature.row = total.div_ceil(64);
        signature.below = vec![0; total * signature.row];
        for kind in 0..signature.kinds.len() {
            let sorts = signature.kinds[kind].sorts.clone();
            for &sort in &sorts {
                let at = sort.0 as usize;
                signature.set_below(at, at);
                signature.set_below(at, sorts[0].0 as usize);
                if at < count {
                    for &large in &above[at] {
                        for word in 0..signature.row {
                            let bits = signature.below[large * signature.row + word];
                            signature.below[at * signature.row + word] |= bits;
                        }
                    }
                }
            }
        }
        Ok(signature)
    }

    fn set_below(&mut self, small: usize, large: usize) {
        self.below[small * self.row + large / 64] |= 1 << (large % 64);
    }

    /// The sort of this name.
    pub fn sort(&self, name: Name) -> Option<SortId> {
        self.sort_names.get(&name).copied()
    }

    /// Names of sorts.
    pub fn sort_names(&self) -> impl Iterator<Item = Name> + '_ {
        self.sorts.iter().take(self.sort_names.len()).map(|sort| sort.name)
    }

    /// The name of a sort.
    pub fn sort_name(&self, sort: SortId) -> &'static str {
        self.sorts[sort.0 as usize].name.text()
    }

    /// Whether a sort is below another one or the same.
    #[inline]
    pub fn leq(&self, small: SortId, large: SortId) -> bool {
        let (small, large) = (small.0 as usize, large.0 as usize);
        self.below[small * self.row + large / 64] >> (large % 64) & 1 != 0
    }

    /// The kind of a sort.
    pub fn kind_of(&self, sort: SortId) -> KindId {
        self.sorts[sort.0 as usize].kind
    }

    /// The sort that stands for a kind.
    pub fn top(&self, kind: KindId) -> SortId {
        self.kinds[kind.0 as usize].sorts[0]
    }

    /// Whether a sort stands for a kind.
    pub fn is_kind(&self, sort: SortId) -> bool {
        self.sorts[sort.0 as usize].index == 0
    }

    /// The operators of this name.
    pub fn named(&self, name: Name) -> &[SymbolId] {
        self.symbol_names.get(&name).map_or(&[], Vec::as_slice)
    }

    /// The operator of this name with arguments and results of these kinds.
    pub fn find(&self, name: Name, domain: &[KindId], range: KindId) -> Option<SymbolId> {
        let fits = |&&id: &&SymbolId| {
            let symbol = self.symbol(id);
            symbol.domain == domain && symbol.range == range
        };
        self.named(name).iter().find(fits).copied()
    }

    /// The operator of this name and arity whose built-in meaning has this name.
    pub fn special(&self, id: &str) -> Option<SymbolId> {
        (0..self.symbols.len() as u32).map(SymbolId).find(|&symbol| self.symbol(symbol).is_special(id))
    }

    /// An operator.
    #[inline]
    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0 as usize]
    }

    /// All operators.
    pub fn symbol_ids(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    /// Adds an operator that is new, with one declaration.
    pub fn add_symbol(&mut self, symbol: Symbol) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbol_names.entry(symbol.name).or_default().push(id);
        self.symbols.push(symbol);
        id
    }

    /// Makes the diagrams that give least sorts. Has to be called after the last declaration. Gives the operators for which
    /// some arguments have no least sort: the operator, and two sorts of which neither is below the other.
    pub fn close(&mut self) -> Vec<(SymbolId, SortId, SortId)> {
        let mut irregular = Vec::new();
        for at in 0..self.symbols.len() {
            let mut symbol = self.symbols[at].clone();
            if symbol.comm {
                // What is declared for a pair of sorts holds for the pair turned round.
                let turned: Vec<Profile> = symbol
                    .profiles
                    .iter()
                    .map(|profile| {
                        let domain = profile.domain.iter().rev().copied().collect();
                        Profile { domain, range: profile.range, ctor: profile.ctor }
                    })
                    .filter(|profile| !symbol.profiles.contains(profile))
                    .collect();
                symbol.profiles.extend(turned);
            }
            let (diagram, conflict) = self.diagram(&symbol);
            self.symbols[at].diagram = diagram;
            self.symbols[at].plateau = self.plateau(SymbolId(at as u32));
            if let Some((one, two)) = conflict {
                irregular.push((SymbolId(at as u32), one, two));
            }
        }
        irregular
    }

    fn plateau(&self, id: SymbolId) -> Option<SortId> {
        let symbol = self.symbol(id);
        if !symbol.is_assoc() {
            return None;
        }
        let sorts = &self.kinds[symbol.range.0 as usize].sorts;
        let is_plateau = |&sort: &SortId| {
            let below: Vec<SortId> = sorts.iter().copied().filter(|&small| self.leq(small, sort)).collect();
            let flat = |&(one, two): &(SortId, SortId)| self.least_sort(id, [one, two].into_iter()) == sort;
            // Few kinds have more sorts, and testing all pairs of them would take too long.
            below.len() <= 64 && below.iter().all(|&one| below.iter().all(|&two| flat(&(one, two))))
        };
        symbol.profiles.iter().map(|profile| profile.range).find(is_plateau)
    }

    fn diagram(&self, symbol: &Symbol) -> (Vec<u32>, Option<(SortId, SortId)>) {
        struct Build<'a> {
            signature: &'a Signature,
            symbol: &'a Symbol,
            steps: Vec<u32>,
            known: FxHashMap<(usize, Vec<usize>), u32>,
            conflict: Option<(SortId, SortId)>,
        }
        impl Build<'_> {
            fn least(&mut self, fitting: &[usize]) -> u32 {
                let mut least = self.signature.top(self.symbol.range);
                for &profile in fitting {
                    let range = self.symbol.profiles[profile].range;
                    if self.signature.leq(range, least) {
                        least = range;
                    }
                }
                for &profile in fitting {
                    let range = self.symbol.profiles[profile].range;
                    if !self.signature.leq(least, range) && self.conflict.is_none() {
                        self.conflict = Some((least, range));
                    }
                }
                least.0
            }

            fn state(&mut self, level: usize, fitting: Vec<usize>) -> u32 {
                if level == self.symbol.domain.len() {
                    return self.least(&fitting);
                }
                if let Some(&known) = self.known.get(&(level, fitting.clone())) {
                    return known;
                }
                let sorts = self.signature.kinds[self.symbol.domain[level].0 as usize].sorts.clone();
                let base = self.steps.len();
                self.steps.resize(base + sorts.len(), 0);
                for (index, &sort) in sorts.iter().enumerate() {
                    let still = fitting.iter().copied().filter(|&profile| {
                        self.signature.leq(sort, self.symbol.profiles[profile].domain[level])
                    });
                    let still = still.collect();
                    let next = self.state(level + 1, still);
                    self.steps[base + index] = next;
                }
                self.known.insert((level, fitting), base as u32);
                base as u32
            }
        }
        let mut build =
            Build { signature: self, symbol, steps: vec![0], known: FxHashMap::default(), conflict: None };
        let start = build.state(0, (0..symbol.profiles.len()).collect());
        build.steps[0] = start;
        (build.steps, build.conflict)
    }

    /// The least sort of an application to arguments of these sorts.
    #[inline]
    pub fn least_sort(&self, symbol: SymbolId, arguments: impl Iterator<Item = SortId>) -> SortId {
        let diagram = &self.symbols[symbol.0 as usize].diagram;
        let mut at = diagram[0];
        for sort in arguments {
            at = diagram[(at + self.sorts[sort.0 as usize].index) as usize];
        }
        SortId(at)
    }

    /// What a type is for people: the sort or `[Kind]`.
    pub fn kind_name(&self, kind: KindId) -> &'static str {
        self.sort_name(self.top(kind))
    }

    /// Whether other operators of the same name and arguments have results of another kind, or, for constants, whether the
    /// name is that of something else too.
    pub fn is_overloaded(&self, id: SymbolId) -> bool {
        let symbol = self.symbol(id);
        self.named(symbol.name).iter().any(|&other| {
            let other_symbol = self.symbol(other);
            other != id && other_symbol.domain == symbol.domain && symbol.poly.is_empty()
        })
    }
}

/// The parts of an operator's name: words, and none for arguments. Empty where the name has no underscores.
pub fn mixfix(name: Name) -> Vec<Option<Name>> {
    let mut parts = Vec::new();
    let mut word = String::new();
    let mut holes = 0;
    let flush = |word: &mut String, parts: &mut Vec<Option<Name>>| {
        if !word.is_empty() {
            parts.push(Some(Name::new(word)));
            word.clear();
        }
    };
    let mut chars = name.text().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '_' => {
                flush(&mut word, &mut parts);
                parts.push(None);
                holes += 1;
            }
            '`' => {
                flush(&mut word, &mut parts);
                if chars.peek().is_some_and(|&next| crate::syntax::lexer::is_special(next)) {
                    parts.push(chars.next().map(|special| Name::new(special.encode_utf8(&mut [0; 4]))));
                }
            }
            c if crate::syntax::lexer::is_special(c) => {
                flush(&mut word, &mut parts);
                parts.push(Some(Name::new(c.encode_utf8(&mut [0; 4]))));
            }
            c => word.push(c),
        }
    }
    flush(&mut word, &mut parts);
    if holes == 0 && parts.len() < 2 { Vec::new() } else { parts }
}

impl Symbol {
    /// An operator with the defaults of the language.
    pub fn new(name: Name, domain: Vec<KindId>, range: KindId, span: Span, module: Name) -> Self {
        let arity = domain.len();
        let parts = mixfix(name);
        let holes = parts.iter().filter(|part| part.is_none()).count();
        let mixfix = if holes == arity { parts } else { Vec::new() };
        let mut symbol = Self {
            name,
            domain,
            range,
            profiles: Vec::new(),
            theory: Theory::Free,
            comm: false,
            idem: false,
            left_identity: None,
            right_identity: None,
            prec: 0,
            gather: Vec::new(),
            own_prec: false,
            own_gather: false,
            format: None,
            strategy: None,
            memo: false,
            frozen: vec![false; arity],
            poly: Vec::new(),
            object: None,
            special: None,
            forms: Vec::new(),
            metadata: None,
            mixfix,
            span,
            module,
            plateau: None,
            diagram: Vec::new(),
        };
        symbol.default_syntax(false);
        symbol
    }

    /// Precedence and gathering where they are not written.
    pub fn default_syntax(&mut self, assoc: bool) {
        const ANY: u32 = 127;
        let open_left = self.mixfix.first().is_some_and(Option::is_none);
        let open_right = self.mixfix.last().is_some_and(Option::is_none);
        if !self.own_prec {
            self.prec = match (open_left, open_right) {
                (false, false) => 0,
                (false, true) | (true, false) if self.arity() == 1 => 15,
                _ => 41,
            };
        }
        if !self.own_gather {
            let arity = self.arity();
            self.gather = vec![ANY; arity];
            if open_left {
                self.gather[0] = self.prec;
            }
            if open_right {
                self.gather[arity - 1] = self.prec;
            }
            if assoc && open_left && open_right && arity == 2 {
                self.gather = vec![self.prec.saturating_sub(1), self.prec];
            }
        }
    }
}
